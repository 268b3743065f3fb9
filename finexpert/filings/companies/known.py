"""Short, former and alternative names of listed companies that a table of companies does not spell out.

    KNOWN["BALL"].tickers  ->  ("BALL", "BLL")
    KNOWN["META"].names    ->  ("Meta Platforms", "Facebook")

The first name is the usual one; `tickers` are all symbols, the present one first, under which the same company's filings
may lie. A company's own table and filings come before what stands here. Attributes are no matter of this file.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KnownNames:
    """All symbols of one company, the present one first, and its names, the usual one first."""

    tickers: tuple[str, ...]
    names: tuple[str, ...]


# Symbols | names
_LINES = """
AAL AMR | American Airlines; American Airlines Group; AMR Corporation; US Airways Group; U.S. Airways
AAP | Advance Auto Parts; Advance Auto
AAPL | Apple; Apple Computer
ABBV | AbbVie
ABMD | Abiomed
ABT | Abbott Laboratories; Abbott Labs; Abbott
ADM | Archer Daniels Midland; Archer-Daniels-Midland
ADP | Automatic Data Processing
AES | AES
AIG | American International Group
ALXN | Alexion Pharmaceuticals; Alexion
AMAT | Applied Materials
AMD | Advanced Micro Devices
AMT | American Tower
AMZN | Amazon; Amazon.com
AON | Aon
ANET | Arista Networks; Arista
AOS | A. O. Smith
APA | APA; Apache
APD | Air Products; Air Products and Chemicals
APTV DLPH | Aptiv; Delphi Automotive
ATVI | Activision Blizzard; Activision
AWK | American Water Works; American Water
AXP | American Express; AmEx
BA | Boeing
BAC | Bank of America; BofA
BALL BLL | Ball; Ball Corporation
BBY | Best Buy
BDX | Becton Dickinson; Becton, Dickinson and Company; BD
BK | BNY Mellon; Bank of New York Mellon; Bank of New York
BKNG PCLN | Booking Holdings; Booking.com; Priceline; Priceline Group
BKR BHGE BHI | Baker Hughes; Baker Hughes, a GE Company
BLK | BlackRock
BMY | Bristol Myers Squibb; Bristol-Myers Squibb; Bristol-Myers
BRK.B BRK.A | Berkshire Hathaway; Berkshire
BXP | BXP; Boston Properties
C | Citigroup; Citi; Citicorp
CAG | Conagra Brands; ConAgra Foods; Conagra
CAT | Caterpillar
CB ACE | Chubb; ACE Limited; ACE Ltd
CE | Celanese
CI | Cigna; The Cigna Group
CL | Colgate-Palmolive; Colgate
CMCSA | Comcast
CNP | CenterPoint Energy; CenterPoint
COP | ConocoPhillips; Conoco
COR ABC | Cencora; AmerisourceBergen
CRM | Salesforce; Salesforce.com
CSCO | Cisco; Cisco Systems
CVS | CVS Health; CVS Caremark; CVS
CVX | Chevron; ChevronTexaco
D | Dominion Energy; Dominion Resources
DAL | Delta Air Lines; Delta Airlines
DD | DuPont; E. I. du Pont de Nemours
DE | Deere; John Deere
DIS | Walt Disney; Disney
DISH | DISH Network; EchoStar Communications
DOC PEAK HCP | Healthpeak Properties; Healthpeak; HCP
DOW | Dow; Dow Chemical
DRE | Duke Realty
DVN | Devon Energy; Devon
DXC CSC | DXC Technology; Computer Sciences Corporation
ED | Consolidated Edison; Con Edison; Con Ed; ConEd
EG RE | Everest Group; Everest Re; Everest Re Group; Everest Reinsurance
EL | Estee Lauder; The Estee Lauder Companies
ELV ANTM WLP | Elevance Health; Elevance; Anthem; WellPoint
EMN | Eastman Chemical
EMR | Emerson Electric; Emerson
EOG | EOG Resources; EOG
ETFC | E*TRADE Financial; E*TRADE; ETrade; E-Trade
ETN | Eaton
ETR | Entergy
EW | Edwards Lifesciences; Edwards
EXE CHK | Expand Energy; Chesapeake Energy
F | Ford Motor; Ford
FBIN FBHS | Fortune Brands Innovations; Fortune Brands; Fortune Brands Home & Security
FDX | FedEx; Federal Express
FI FISV | Fiserv
FIS | Fidelity National Information Services; FIS; Fidelity National Information
FITB | Fifth Third Bancorp; Fifth Third; Fifth Third Bank
FOXA FOX | Fox Corporation
FRT | Federal Realty Investment Trust; Federal Realty
GD | General Dynamics
GE | GE Aerospace; General Electric
GEN NLOK SYMC | Gen Digital; NortonLifeLock; Symantec
GL TMK | Globe Life; Torchmark
GM | General Motors
GOOGL GOOG | Alphabet; Google
GPN | Global Payments
GS | Goldman Sachs; The Goldman Sachs Group; Goldman
HD | Home Depot
HFC DINO | HollyFrontier; HF Sinclair; Holly
HIG | The Hartford; Hartford Financial Services; Hartford Financial; Hartford Insurance; Hartford
HII | Huntington Ingalls Industries; Huntington Ingalls
HON | Honeywell; Honeywell International
HPE | Hewlett Packard Enterprise
HPQ | HP; Hewlett-Packard
HST | Host Hotels & Resorts; Host Hotels; Host Marriott
HWM ARNC AA | Howmet Aerospace; Howmet; Arconic; Alcoa
IBM | IBM; International Business Machines
ICE | Intercontinental Exchange; IntercontinentalExchange
ILMN | Illumina
INTC | Intel
IP | International Paper
IPG | Interpublic Group of Companies; Interpublic Group; Interpublic
IQV Q | IQVIA; Quintiles; Quintiles IMS; QuintilesIMS
IVZ | Invesco; Amvescap
J JEC | Jacobs Solutions; Jacobs Engineering
JCI | Johnson Controls
JKHY | Jack Henry & Associates; Jack Henry
JNJ | Johnson & Johnson; J&J
JPM | JPMorgan Chase; JPMorgan; JP Morgan; J.P. Morgan; JP Morgan Chase; J.P. Morgan Chase
K | Kellanova; Kellogg; Kellogg's
KHC KRFT HNZ | Kraft Heinz; Kraft Foods Group
KIM | Kimco Realty; Kimco
KO | Coca-Cola; Coke
L | Loews
LIN PX | Linde; Praxair
LLY | Eli Lilly; Eli Lilly and Company; Lilly
LMT | Lockheed Martin; Lockheed
LYB | LyondellBasell
MAA | Mid-America Apartment Communities; MAA; Mid-America Apartment
MAR | Marriott International; Marriott
MCD | McDonald's
MDLZ | Mondelez International; Mondelez
META FB | Meta Platforms; Facebook
MKTX | MarketAxess; MarketAxess Holdings
MMC | Marsh McLennan; Marsh & McLennan
MMM | 3M; Minnesota Mining and Manufacturing
MO | Altria; Altria Group
MRK | Merck; Merck & Co.
MRO | Marathon Oil
MS | Morgan Stanley
MSI MOT | Motorola Solutions; Motorola
MSFT | Microsoft
NCLH | Norwegian Cruise Line Holdings; Norwegian Cruise Line
NKE | Nike
NWSA NWS | News Corp; News Corporation
OKE | Oneok
ORLY | O'Reilly Automotive; O'Reilly
PARA VIAC CBS | Paramount Global; ViacomCBS; CBS Corporation
PEG | Public Service Enterprise Group; PSEG
PEP | PepsiCo; Pepsi
PG | Procter & Gamble; P&G
PKG | Packaging Corporation of America; PCA; Packaging Corp
PM | Philip Morris International; Philip Morris; PMI
PNC | PNC Financial Services; PNC; PNC Bank
PPG | PPG Industries; PPG
RCL | Royal Caribbean Group; Royal Caribbean; Royal Caribbean Cruises
REGN | Regeneron Pharmaceuticals; Regeneron
RL | Ralph Lauren; Polo Ralph Lauren
RSG | Republic Services
RTX UTX | RTX; Raytheon Technologies; Raytheon; United Technologies
RVTY PKI | Revvity; PerkinElmer
SJM | J.M. Smucker; Smucker; Smucker's
SLB | Schlumberger; SLB
SLG | SL Green Realty; SL Green
SNA | Snap-on
SNPS | Synopsys
SPGI MHFI MHP | S&P Global; McGraw Hill Financial; McGraw-Hill
STT | State Street
STZ | Constellation Brands
SW WRK | Smurfit Westrock
SWKS | Skyworks Solutions; Skyworks
SYY | Sysco
T | AT&T
TAP | Molson Coors Beverage; Molson Coors
TEL | TE Connectivity; Tyco Electronics
TFC BBT | Truist Financial; Truist; BB&T
TFX | Teleflex
TGT | Target
TMUS PCS | T-Mobile US; T-Mobile; MetroPCS
TPR COH | Tapestry; Coach
TROW | T. Rowe Price; T. Rowe Price Group; T Rowe
TRV | Travelers; St. Paul Travelers
TSCO | Tractor Supply; Tractor Supply Company
TT | Trane Technologies; Trane
TWTR | Twitter
UAA UA | Under Armour; Underarmour
UAL | United Airlines; United Continental; United Continental Holdings
UNH | UnitedHealth Group; United Healthcare; UnitedHealthcare
UNP | Union Pacific; Union Pacific Railroad
UPS | United Parcel Service; UPS
V | Visa
VLO | Valero Energy; Valero
VNO | Vornado Realty Trust; Vornado Realty; Vornado
VRTX | Vertex Pharmaceuticals; Vertex
VTR | Ventas
VZ | Verizon; Verizon Communications
WAB | Wabtec; Westinghouse Air Brake Technologies
WBA | Walgreens Boots Alliance; Walgreens; Walgreen
WBD DISCA DISCK | Warner Bros. Discovery; Discovery; Discovery Communications; Discovery, Inc.
WELL HCN | Welltower; Health Care REIT
WFC | Wells Fargo
WMT | Walmart; Wal-Mart; Wal-Mart Stores
WRK | WestRock; Rock-Tenn; RockTenn
WTW | Willis Towers Watson; Towers Watson
XOM | ExxonMobil; Exxon Mobil; Exxon
YUM | Yum! Brands; Yum Brands
ZBH ZMH | Zimmer Biomet; Zimmer Holdings; Zimmer; Biomet
"""


def _read(lines: str) -> dict[str, KnownNames]:
    found: dict[str, KnownNames] = {}
    for line in lines.strip().splitlines():
        symbols, names = line.split(" | ")
        known = KnownNames(tuple(symbols.split()), tuple(name.strip() for name in names.split(";")))
        for ticker in known.tickers:
            # A symbol with a line of its own keeps it, whichever line comes first.
            if ticker not in found or ticker == known.tickers[0]:
                found[ticker] = known
    return found


KNOWN = _read(_LINES)
"""What is known of a company, by any of its symbols."""
